#!/usr/bin/env python3
"""Writes the files of a release and the libraries that they need, as SPDX 2.3 (JSON), to standard output.

Usage: sbom.py VERSION FILE...

FILE: packages (.deb), wheels, the source. The dependencies of a package are the libraries that its programs were
linked with when it was built. stixeld-cuda contains NVIDIA's runtime. SOURCE_DATE_EPOCH is the date, so that the same
files give the same bytes.
SPDX-License-Identifier: Apache-2.0
"""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

LICENCE = "Apache-2.0"


def identifier(*words):
    return "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", "-".join(words))


def package(name, version, licence, **more):
    return dict(SPDXID=identifier("Package", name, version or "any"), name=name, versionInfo=version or "NOASSERTION",
                downloadLocation="NOASSERTION", filesAnalyzed=False, licenseConcluded="NOASSERTION",
                licenseDeclared=licence, copyrightText="NOASSERTION", supplier="NOASSERTION", **more)


def fields(deb):
    out = subprocess.run(["dpkg-deb", "-f", deb, "Package", "Version", "Architecture", "Depends"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return dict(re.findall(r"(?m)^([\w-]+): (.*)$", out))


def depended(text):
    """Yields (package, version condition) for each entry of a field Depends; of alternatives only the first."""
    for clause in filter(None, text.split(",")):
        m = re.match(r"\s*([^\s(:]+)(?::\w+)?\s*(?:\(([^)]*)\))?", clause.split("|")[0])
        yield m.group(1), m.group(2) or ""


class Document:
    def __init__(self, version):
        self.version, self.packages, self.relations = version, {}, []

    def relate(self, one, kind, other):
        relation = {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
        if relation not in self.relations:
            self.relations.append(relation)

    def take(self, p):
        return self.packages.setdefault(p["SPDXID"], p)["SPDXID"]

    def add_file(self, path):
        with open(path, "rb") as f:
            checksum = {"algorithm": "SHA256", "checksumValue": hashlib.sha256(f.read()).hexdigest()}
        name = os.path.basename(path)
        about = fields(path) if name.endswith(".deb") else {}
        own = self.take(package(name, about.get("Version", self.version), LICENCE, packageFileName=name,
                                checksums=[checksum]))
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", own)
        for other, wanted in depended(about.get("Depends", "")):
            # the package of a library has its licence
            self.relate(own, "DEPENDS_ON", self.take(package(other, wanted, "NOASSERTION")))
        if about.get("Package") == "stixeld-cuda":
            self.relate(own, "STATIC_LINK", self.take(package("cudart", "", "LicenseRef-NVIDIA-CUDA-EULA")))

    def text(self):
        made = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
        packages = list(self.packages.values())
        sums = "".join(c["checksumValue"] for p in packages for c in p.get("checksums", []))
        whole = {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": "stixeld-" + self.version,
            "documentNamespace": "https://stixeld.invalid/spdx/%s-%s" % (
                self.version, hashlib.sha256(sums.encode()).hexdigest()[:16]),
            "creationInfo": {"created": made.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: stixeld-release"]},
            "packages": packages, "relationships": self.relations}
        if any(p["licenseDeclared"].startswith("LicenseRef") for p in packages):
            whole["hasExtractedLicensingInfos"] = [{
                "licenseId": "LicenseRef-NVIDIA-CUDA-EULA", "name": "NVIDIA CUDA Toolkit EULA",
                "extractedText": "The CUDA runtime library may be redistributed as the EULA of the CUDA Toolkit says."}]
        return json.dumps(whole, indent=1) + "\n"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    document = Document(sys.argv[1])
    for path in sorted(sys.argv[2:], key=os.path.basename):
        document.add_file(path)
    sys.stdout.write(document.text())


if __name__ == "__main__":
    main()
