"""The place where jobs run: CDK stacks, composed by app.py.

Importing `aws_cdk` starts Node through jsii, which prints a large banner where that Node has left
support. Node 20 works with the versions that we pin, so the banner is kept away; the variable must
be set before `aws_cdk` is imported, and this module is loaded before any other of the package.
"""

import os

NODE_SILENCE = {"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20"}
"""Major versions, by commas, of which jsii says nothing."""

for _name, _value in NODE_SILENCE.items():
    os.environ.setdefault(_name, _value)
