"""SageMaker: notebook instances whole, and training jobs that live as its do, and train nothing.

moto knows a third of a notebook instance's settings, and no update of it, of its lifecycle scripts
or of a Git repository. Its training jobs have ended when they begin.
"""
