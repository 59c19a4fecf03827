"""CodeBuild whose builds really run: the commands of the build specification, on this machine."""
