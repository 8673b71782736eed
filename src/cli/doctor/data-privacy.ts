import { stat } from 'node:fs/promises'
import { sqlitePath } from '../../store/index.ts'
import type { DoctorFinding } from './doctor-finding.ts'

const OTHERS_MAY_READ = 0o004
const OTHERS_MAY_ENTER = 0o001

/** Whether strangers on this machine can read the database; ingest keys are in it. Null while there is none. */
export async function dataPrivacyFinding(dataDir: string): Promise<DoctorFinding | null> {
  const check = 'privacy'
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
