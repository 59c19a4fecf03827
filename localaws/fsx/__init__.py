"""FSx for Lustre: file systems as folders, linked to buckets."""
