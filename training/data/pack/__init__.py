"""Pictures in shards: WebDataset tar files for the trainer here, TFRecords for the one in TF2."""
