/** When the stores of the upgrade tests were used last, and are opened again, epoch ms. */
export const MADE_AT = Date.parse('2026-11-20T09:40:00Z')

/** With which settings, beside where the data are. */
export const SETTINGS = {
  CONNECTION_CHECK_URLS: 'off',
  DEFAULT_PLAN: 'enterprise',
  PORT: '0',
  RETENTION_MINUTE_DAYS: '2',
}
