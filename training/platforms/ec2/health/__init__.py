"""How the nodes of the cluster are, by what they say and by what AWS says; and replacing one."""
