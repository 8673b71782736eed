import type { Migration } from './types.ts'

/**
 * The webhook of everything comes from the environment and was stored beside its standing. It is taken out; the next message
 * finds another address than this one, and begins anew.
 */
export const noStoredWebhook: Migration = {
  name: '0009-no-stored-webhook',
  statements: () => [`update channels set address = '' where channel = 'global'`],
}
