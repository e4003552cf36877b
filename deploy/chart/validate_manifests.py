"""Reads manifests, a JSON array, and checks each against the schema that a release of Kubernetes has of its kind.

usage: validate_manifests.py VERSION...   (as in 1.34)
Members that a schema does not have are errors. Prints a line for each manifest and release with an error; exit code 1 when there is one.
"""

import functools
import json
import sys

import kubernetes_validate
from kubernetes_validate import utils

# The library reads the definitions of a release, megabytes, for every manifest.
utils.schema_contents = functools.cache(utils.schema_contents)
utils.all_versions = functools.cache(utils.all_versions)


def main(versions: list[str]) -> int:
    manifests = json.load(sys.stdin)
    code = 0
    for version in versions:
        for manifest in manifests:
            try:
                kubernetes_validate.validate(manifest, version, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
                name = f"{manifest.get('kind')} {manifest.get('metadata', {}).get('name')}"
                print(f"{version} {name}: {error.message}")
                code = 1
    return code


sys.exit(main(sys.argv[1:]))
