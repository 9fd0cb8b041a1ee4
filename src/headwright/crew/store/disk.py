"""Is a folder on a disk of this machine, or on one that several machines share?"""

from __future__ import annotations

from pathlib import Path

import psutil

# File systems that other machines write, too; SQLite's shared memory does not reach over them.
SHARED = {
    "9p", "afs", "afpfs", "beegfs", "ceph", "cephfs", "cifs", "coda", "davfs", "fhgfs",
    "fuse.ceph", "fuse.davfs", "fuse.glusterfs", "fuse.juicefs", "fuse.rclone", "fuse.s3fs",
    "fuse.sshfs", "glusterfs", "gpfs", "lustre", "mmfs", "ncpfs", "nfs", "nfs3", "nfs4", "ocfs2",
    "orangefs", "panfs", "pvfs2", "smb", "smb2", "smb3", "smbfs", "virtiofs", "vmhgfs", "webdav",
    "wekafs",
}  # fmt: skip


def is_shared(folder: Path) -> bool:
    """By the file system of the mount that the folder is in; unknown ones count as local."""
    place = folder.resolve()
    inside = [
        part for part in psutil.disk_partitions(all=True) if place.is_relative_to(part.mountpoint)
    ]
    if not inside:
        return str(place).startswith("\\\\")  # a share that has no drive letter on Windows
    # The last of equal mounts hides the others.
    deepest = max(enumerate(inside), key=lambda found: (len(found[1].mountpoint), found[0]))[1]
    return deepest.fstype.lower() in SHARED or "remote" in deepest.opts.split(",")
