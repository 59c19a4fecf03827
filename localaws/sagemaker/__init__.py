"""SageMaker: notebook instances whole, and training jobs that live as its do, and train nothing.

moto knows a third of a notebook instance's settings, no update of it, its lifecycle scripts and Git
repositories; and its training jobs have ended when they begin.
"""
