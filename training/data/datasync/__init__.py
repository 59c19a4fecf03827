"""The big copy by AWS DataSync, which has machines of its own inside the VPC.

DataSync copies and verifies what it has copied; the ordinary copy follows, here or inside the VPC:
it finds every file there, compares each with the manifest, copies what differs, and leaves the
manifest.
"""
