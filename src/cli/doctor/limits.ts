import { readFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import type { DoctorFinding } from './doctor-finding.ts'

/** Senders keep a connection each. Common defaults are 1,024 and, for services under systemd, 524,288. */
const MIN_OPEN_FILES = 4_096
const MIB = 1_048_576
/** Measured: 190 MB after the start, 450 to 520 MB with 10,000 sites at full load. */
const MIN_MEMORY_MIB = 640

/** What the system lets one process have. A check that the system does not answer is left out. */
export const limitFindings = async (): Promise<DoctorFinding[]> =>
  [openFilesFinding(await openFiles()), memoryFinding(memoryMib())].filter((finding) => finding !== null)

/** @param most files and connections at a time; null where the system does not say */
export function openFilesFinding(most: number | null): DoctorFinding | null {
  if (most === null) return null
  const check = 'open-files'
  if (most >= MIN_OPEN_FILES) return { check, level: 'ok', text: `up to ${most}` }
  const text = `this process may have ${most} files and connections at a time: raise the limit (LimitNOFILE=65536 with systemd, ulimit -n in a shell)`
  return { check, level: 'warning', text }
}

export function memoryFinding(mib: number): DoctorFinding {
  const check = 'memory'
  if (mib >= MIN_MEMORY_MIB) return { check, level: 'ok', text: `${Math.floor(mib)} MiB` }
  const text = `${Math.floor(mib)} MiB, and the system ends what takes more: give ${MIN_MEMORY_MIB} MiB or more`
  return { check, level: 'warning', text }
}

async function openFiles(): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const soft = /^Max open files +(\w+)/m.exec(limits)?.[1]
  if (soft === undefined) return null
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft)
}

/** Of the machine, or what a container gets of it. */
function memoryMib(): number {
  const constrained = process.constrainedMemory()
  const total = totalmem()
  return (constrained > 0 ? Math.min(constrained, total) : total) / MIB
}
