import { statfs } from 'node:fs/promises'
import type { DoctorFinding, Level } from './doctor-finding.ts'

/** Kinds of file systems by the number that Linux gives them (statfs(2)); other systems number them differently. */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
])
const IN_MEMORY: ReadonlyMap<number, string> = new Map([
  [0x01021994, 'tmpfs'],
  [0x858458f6, 'ramfs'],
])
const SHARED: ReadonlyMap<number, string> = new Map([
  [0x65735546, 'FUSE'],
  [0x01021997, '9P'],
])
const OVERLAY = 0x794c7630

/** What the folder's file system means for a database in it. Null where it is not known. */
export async function fileSystemFinding(folder: string): Promise<DoctorFinding | null> {
  if (process.platform !== 'linux') return null
  const { type } = await statfs(folder)
  return findingOfType(type)
}

/** @param type as statfs returns it; the kernel's word is signed on some machines */
export function findingOfType(type: number): DoctorFinding {
  const kind = type >>> 0
  const finding = (level: Level, text: string): DoctorFinding => ({ check: 'file-system', level, text })
  const network = NETWORK.get(kind)
  if (network !== undefined) {
    return finding(
      'failed',
      `DATA_DIR is on ${network}, where SQLite damages its files: take a disk of this machine, or DATABASE_URL`,
    )
  }
  const memory = IN_MEMORY.get(kind)
  if (memory !== undefined) {
    return finding(
      'warning',
      `DATA_DIR is in memory (${memory}): all is lost when this machine stops; take a folder on a disk`,
    )
  }
  if (kind === OVERLAY) {
    return finding('warning', 'DATA_DIR is a layer of this container and goes with it: mount a volume there')
  }
  const shared = SHARED.get(kind)
  if (shared === undefined) return finding('ok', 'on a disk of this machine')
  return finding(
    'warning',
    `DATA_DIR is on ${shared}, which may hand files on to another machine: SQLite needs one of this machine; take another folder if in doubt`,
  )
}
