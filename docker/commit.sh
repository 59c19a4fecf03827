#!/bin/bash
# Fetch one commit of a repository, without its history.
#
#   commit.sh URL COMMIT TARGET [FOLDER...]
#
# TARGET gets the files of the commit, or of these folders of it only; no `.git` stays.
#
# Not GitHub's tarball of the commit: its bytes may change with GitHub's compressor, and a checksum
# with them (https://github.blog/open-source/git/update-on-the-future-stability-of-source-code-archives-and-hashes/).
# The commit's id is a hash of all its files already, which git checks on arrival.
set -euo pipefail
url=$1 commit=$2 target=$3
shift 3

# No question, no password from elsewhere and none kept: the repositories are public.
export GIT_TERMINAL_PROMPT=0
git=(git -c credential.helper= -c transfer.fsckObjects=true -c gc.auto=0 -c maintenance.auto=false)

rm -rf "$target"
mkdir -p "$target"
cd "$target"
git init --quiet
"${git[@]}" remote add origin "$url"
# Folders arrive by themselves: the rest of the commit's files is left on the server.
"${git[@]}" fetch --quiet --depth 1 ${1:+--filter=blob:none} origin "$commit"
arrived=$(git rev-parse FETCH_HEAD)
if [ "$arrived" != "$commit" ]; then
  echo "commit.sh: $url gave $arrived in place of $commit" >&2
  exit 1
fi
"${git[@]}" checkout --quiet FETCH_HEAD -- "${@:-.}"
rm -rf .git
