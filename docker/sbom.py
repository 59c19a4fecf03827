"""Writes what an image holds, as a CycloneDX document: its Debian, or other, and Python packages.

Runs at the end of each image's build, by that image's own Python (3.6 or newer) and standard
library: `python3 sbom.py ALGORITHM FILE`. https://cyclonedx.org/docs/1.5/json/
"""

import json
import subprocess
import sys

SYSTEM = ["dpkg-query", "--show", "--showformat", "${Package}\t${Version}\t${Architecture}\n"]


def main(algorithm, file):
    release = _os_release()
    components = sorted(
        [*_system_packages(release), *_python_packages()], key=lambda each: each["purl"]
    )
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "container",
                "bom-ref": "image",
                "name": "mask-rcnn/" + algorithm,
            }
        },
        "components": components,
    }
    with open(file, "w", encoding="utf-8") as out:
        json.dump(document, out, indent=1)
        out.write("\n")


def _os_release():
    with open("/etc/os-release", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").partition("=") for line in lines if "=" in line]
    return {name: value.strip('"') for name, _, value in pairs}


def _system_packages(release):
    distribution = "{}-{}".format(release["ID"], release["VERSION_ID"])
    for line in _output(SYSTEM).splitlines():
        name, version, architecture = line.split("\t")
        yield _component(
            name,
            version,
            "pkg:deb/{}/{}@{}?arch={}&distro={}".format(
                release["ID"], _quoted(name), _quoted(version), architecture, distribution
            ),
        )


def _python_packages():
    listed = json.loads(_output([sys.executable, "-m", "pip", "list", "--format", "json"]))
    for each in listed:
        # https://github.com/package-url/purl-spec/blob/main/types/pypi-definition.json
        name = each["name"].lower().replace("_", "-")
        purl = "pkg:pypi/{}@{}".format(name, _quoted(each["version"]))
        yield _component(each["name"], each["version"], purl)


def _component(name, version, purl):
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _quoted(text):
    return text.replace("%", "%25").replace("+", "%2B").replace(":", "%3A")


def _output(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
