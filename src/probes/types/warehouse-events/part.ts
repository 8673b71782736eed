/** What one part of the check found. */
export interface Part {
  status: 'ok' | 'warning' | 'critical' | 'error'
  message: string
  details: Readonly<Record<string, unknown>>
}
