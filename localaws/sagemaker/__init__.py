"""SageMaker: notebook instances whole, with their lifecycle scripts and Git repositories.

moto knows a third of a notebook instance's settings, and no update of any of the three.
"""
