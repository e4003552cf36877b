import { statfs } from 'node:fs/promises';

/** Space beside a source for the segments that are made from it. */
const spareBytes = 512 * 1024 * 1024;

/** Whether the disk of a folder has room for a source of so many bytes and for what is made from it. */
export async function isRoomFor(sizeBytes: number, folder: string): Promise<boolean> {
  const disk = await statfs(folder);
  return disk.bavail * disk.bsize >= sizeBytes + spareBytes;
}

/**
 * Whether a disk has room for work: a job that is taken without uses up one of its tries. Says once when room runs out and when there
 * is some again.
 */
export function watchRoom(folder: string, onChange: (isRoom: boolean) => void): () => Promise<boolean> {
  let wasRoom = true;
  return async () => {
    const isRoom = await isRoomFor(0, folder);
    if (isRoom !== wasRoom) onChange(isRoom);
    wasRoom = isRoom;
    return isRoom;
  };
}
