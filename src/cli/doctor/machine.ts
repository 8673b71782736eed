import { constants } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { dirname, resolve } from 'node:path'
import { asError } from '../../lib/index.ts'
import { sqlitePath } from '../../store/index.ts'
import { HAS_SOURCES } from '../options.ts'
import type { DoctorFinding, Level } from './doctor-finding.ts'

/** The oldest Node for each: the sources need the one that `package.json` pins, the npm package the one in its `engines`. */
const NEEDED = { sources: [24, 0], npmPackage: [22, 16] } as const
const MIB = 1_048_576
/** Measured with the demo: a site's minute rows take about 1.2 MiB a day. */
const DISK_WARNING_MIB = 1_024
const DISK_FAILURE_MIB = 64

export function nodeFinding(version: string, hasSources = HAS_SOURCES): DoctorFinding {
  const check = 'Node'
  const [major, minor] = hasSources ? NEEDED.sources : NEEDED.npmPackage
  const [ourMajor = 0, ourMinor = 0] = version.split('.').map(Number)
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return { check, level: 'ok', text: version }
  const text = hasSources
    ? `${version} is older than ${major}: start through npm, which brings its own`
    : `${version} is older than ${major}.${minor}: install a newer Node`
  return { check, level: 'failed', text }
}

/** Findings about the data folder: whether it can be used, and how much room it has. Creates nothing. */
export async function dataDirFindings(dataDir: string): Promise<DoctorFinding[]> {
  const check = 'DATA_DIR'
  try {
    const folder = await nearestFolder(resolve(dataDir))
    await access(folder, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = await statfs(folder)
    const text =
      folder === resolve(dataDir) ? `${dataDir} is writable` : `${dataDir} will be created at the first start`
    const more = [await dataPrivacyFinding(resolve(dataDir)), await fileSystemFinding(folder)]
    return [{ check, level: 'ok', text }, ...more.filter((one) => one !== null), diskFinding((bavail * bsize) / MIB)]
  } catch (thrown) {
    const text = `${dataDir} cannot be used (${asError(thrown).message}): make it a folder this user may write to`
    return [{ check, level: 'failed', text }]
  }
}

/** The path, or the nearest parent that exists. @throws Error when that is not a folder */
async function nearestFolder(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isDirectory()) throw new Error(`${path} is not a folder`)
    return path
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT'
    if (!isMissing || dirname(path) === path) throw thrown
    return nearestFolder(dirname(path))
  }
}

export function diskFinding(freeMib: number): DoctorFinding {
  const check = 'disk'
  const text =
    freeMib < DISK_WARNING_MIB ? `${Math.floor(freeMib)} MiB free` : `${Math.floor(freeMib / 1_024)} GiB free`
  if (freeMib < DISK_FAILURE_MIB) {
    return { check, level: 'failed', text: `${text}: make room, or ingest will soon answer 500` }
  }
  if (freeMib < DISK_WARNING_MIB)
    return { check, level: 'warning', text: `${text}: make room, or lower RETENTION_…_DAYS` }
  return { check, level: 'ok', text }
}

/** File systems by their magic number on Linux, see statfs(2); other systems have other numbers. */
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

/** What the folder's file system means for a database in it; null when it is not known. */
async function fileSystemFinding(folder: string): Promise<DoctorFinding | null> {
  if (process.platform !== 'linux') return null
  const { type } = await statfs(folder)
  return findingOfType(type)
}

/** @param type as `statfs` returns it, which may be negative: the kernel's field is signed on some machines */
export function findingOfType(type: number): DoctorFinding {
  const kind = type >>> 0
  const finding = (level: Level, text: string): DoctorFinding => ({ check: 'file-system', level, text })
  const network = NETWORK.get(kind)
  if (network !== undefined) {
    return finding(
      'failed',
      `DATA_DIR is on ${network}, where SQLite damages its files: use a disk of this machine, or DATABASE_URL`,
    )
  }
  const memory = IN_MEMORY.get(kind)
  if (memory !== undefined) {
    return finding(
      'warning',
      `DATA_DIR is in memory (${memory}): everything is lost when this machine stops; use a folder on a disk`,
    )
  }
  if (kind === OVERLAY) {
    return finding('warning', 'DATA_DIR is inside this container and is deleted with it: mount a volume there')
  }
  const shared = SHARED.get(kind)
  if (shared === undefined) return finding('ok', 'on a disk of this machine')
  return finding(
    'warning',
    `DATA_DIR is on ${shared}, which may store files on another machine: SQLite needs a disk of this machine; if in doubt, use another folder`,
  )
}

const OTHERS_MAY_READ = 0o004
const OTHERS_MAY_ENTER = 0o001

/** Whether other users of this machine can read the database, which holds ingest keys; null while there is none. */
async function dataPrivacyFinding(dataDir: string): Promise<DoctorFinding | null> {
  const check = 'privacy'
  // On Windows, modes say nothing about who may read.
  if (process.platform === 'win32') return null
  try {
    const [folder, file] = await Promise.all([stat(dataDir), stat(sqlitePath(dataDir))])
    if ((folder.mode & OTHERS_MAY_ENTER) === 0 || (file.mode & OTHERS_MAY_READ) === 0) {
      return { check, level: 'ok', text: 'others on this machine cannot read the database' }
    }
    const text = `others on this machine can read the ingest keys in it: chmod 700 ${dataDir}`
    return { check, level: 'warning', text }
  } catch {
    return null
  }
}

/** Each sender keeps a connection open. Common limits are 1,024 and, under systemd, 524,288. */
const MIN_OPEN_FILES = 4_096
/** Measured: 190 MB after the start, 450 to 520 MB with 10,000 sites at full load. */
const MIN_MEMORY_MIB = 640

/** Findings about the limits of this process, without those that the system does not report. */
export const limitFindings = async (): Promise<DoctorFinding[]> =>
  [openFilesFinding(await openFiles()), memoryFinding(memoryMib())].filter((finding) => finding !== null)

/** @param most limit of open files and connections, infinite without one; null when the system does not report it */
export function openFilesFinding(most: number | null): DoctorFinding | null {
  if (most === null) return null
  const check = 'open-files'
  if (most === Number.POSITIVE_INFINITY) return { check, level: 'ok', text: 'unlimited' }
  if (most >= MIN_OPEN_FILES) return { check, level: 'ok', text: `up to ${most}` }
  const text = `this process may have ${most} files and connections at a time: raise the limit (LimitNOFILE=65536 with systemd, ulimit -n in a shell)`
  return { check, level: 'warning', text }
}

export function memoryFinding(mib: number): DoctorFinding {
  const check = 'memory'
  if (mib >= MIN_MEMORY_MIB) return { check, level: 'ok', text: `${Math.floor(mib)} MiB` }
  const text = `${Math.floor(mib)} MiB, and the system kills what needs more: provide ${MIN_MEMORY_MIB} MiB or more`
  return { check, level: 'warning', text }
}

async function openFiles(): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const soft = /^Max open files +(\w+)/m.exec(limits)?.[1]
  if (soft === undefined) return null
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Memory of the machine, or the container's share of it. */
function memoryMib(): number {
  const constrained = process.constrainedMemory()
  const total = totalmem()
  return (constrained > 0 ? Math.min(constrained, total) : total) / MIB
}
