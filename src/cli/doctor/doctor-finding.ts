export type Level = 'ok' | 'warning' | 'failed'

/** The result of one check. The `text` of a warning or failure says what to do. */
export interface DoctorFinding {
  check: string
  level: Level
  text: string
}

const LEVEL_WIDTH = 8
const CHECK_WIDTH = 18

export const findingLine = ({ level, check, text }: DoctorFinding): string =>
  `${level.padEnd(LEVEL_WIDTH)} ${check.padEnd(CHECK_WIDTH)} ${text}`

export function verdict(findings: readonly DoctorFinding[]): string {
  const count = (level: Level) => findings.filter((finding) => finding.level === level).length
  const warnings = count('warning')
  return `${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('failed')} failed`
}
