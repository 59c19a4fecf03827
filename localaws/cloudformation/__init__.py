"""CloudFormation: stacks that roll back, and the resource types that the stacks here use.

moto's own makes resources by reaching into other services' objects and knows few properties, few
updates and few deletions. Here a resource is made, changed and deleted by the service's own API.
"""
