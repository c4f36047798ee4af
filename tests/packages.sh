#!/bin/sh
# Debian packages for a few tests. Does nothing when they are there, when we are not root, or when this is not Debian.
packages="chromium link-grammar link-grammar-dictionaries-en wordnet-base"
missing=""
for package in $packages; do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo "not installed:$missing (needs root on Debian); the tests that use them are skipped"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq >/dev/null 2>&1
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null 2>&1 || echo "could not install:$missing; the tests that use them are skipped"
