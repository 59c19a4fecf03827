"""What runs on the nodes of the EC2 cluster: their set-up, their register, the jobs, their health.

Standard library only and nothing newer than Python 3.9, which is what Amazon Linux 2023 has.
"""
