import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { asError } from '../../lib/index.ts'
import { dataPrivacyFinding } from './data-privacy.ts'
import type { DoctorFinding } from './doctor-finding.ts'
import { fileSystemFinding } from './file-system.ts'

/** The major version that package.json pins. */
const NODE_MAJOR = 24
const MIB = 1_048_576
/** Measured with the demo: a site's minute rows take about 1.2 MiB a day. */
const DISK_WARNING_MIB = 1_024
const DISK_FAILURE_MIB = 64

export function nodeFinding(version: string): DoctorFinding {
  const check = 'Node'
  if (Number.parseInt(version, 10) >= NODE_MAJOR) return { check, level: 'ok', text: version }
  return {
    check,
    level: 'failed',
    text: `${version} is older than ${NODE_MAJOR}: start through npm, which brings its own`,
  }
}

/** Whether the folder can be used, and how much room it has. Creates nothing. */
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

/** The path, or the first above it that is there. @throws Error when that is not a folder */
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
