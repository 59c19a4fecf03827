"""A local AWS for development: moto's server, with what it lacks for the stacks here.

The CDK CLI and boto3 use it as they use AWS. Nothing else imports this package.
"""
