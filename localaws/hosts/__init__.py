"""EC2 instances of local AWS as hosts on this machine: `python -m localaws start --hosts`.

Each host has namespaces, a root and an init of its own; nothing of the machine is changed.
"""
