"""What a service does with a key."""

from __future__ import annotations

USE_OF_KEY = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey*",
    "kms:ReEncrypt*",
)
"""Actions of whoever encrypts and decrypts with a key: what AWS calls key users.

https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-default.html
"""
