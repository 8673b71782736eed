/** The time at which the stores of the upgrade tests were last used and are opened again, epoch ms. */
export const MADE_AT = Date.parse('2026-11-20T09:40:00Z')

/** Their settings, besides the place of the data. */
export const SETTINGS = {
  CONNECTION_CHECK_URLS: 'off',
  DEFAULT_PLAN: 'enterprise',
  PORT: '0',
  RETENTION_MINUTE_DAYS: '2',
}
