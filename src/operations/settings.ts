import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, nullable } from '../http/index.ts'
import { type Clock, isoTime } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

/** What the settings come to. Secrets are given as whether they are set, and addresses with secrets in them too. */
export interface SettingsInEffect {
  publicUrl: string | null
  retention: { minuteDays: number; hourDays: number; resultDays: number }
  isEmailOn: boolean
  hasGlobalWebhook: boolean
  signsWebhooks: boolean
  hasHeartbeat: boolean
  hasAdminToken: boolean
  hasViewerToken: boolean
  version: string
}

export interface SettingsOptions {
  store: Pick<Store, 'engine'>
  clock: Clock
  settings: SettingsInEffect
}

const Days = (name: string, what: string) => Type.Integer({ description: `${name}: ${what}` })

export const ServiceSettings = Type.Object({
  public_url: nullable(Type.String({ description: 'PUBLIC_URL; null: links name the address that is listened on' })),
  retention: Type.Object({
    minute_days: Days('RETENTION_MINUTE_DAYS', 'minute rows'),
    hour_days: Days('RETENTION_HOUR_DAYS', 'hour rows'),
    result_days: Days('RETENTION_RESULT_DAYS', 'results of probes, alerts that are over, and messages'),
  }),
  email_enabled: Type.Boolean({ description: 'Whether SMTP_URL is set' }),
  global_webhook: Type.Boolean({ description: 'Whether CHAT_WEBHOOK_URL is set' }),
  signed_webhooks: Type.Boolean({ description: 'Whether WEBHOOK_SECRET is set' }),
  heartbeat: Type.Boolean({ description: 'Whether HEARTBEAT_URL is set' }),
  admin_token: Type.Boolean({ description: 'Whether ADMIN_TOKEN is set; without it everybody may change everything' }),
  viewer_token: Type.Boolean({ description: 'Whether VIEWER_TOKEN is set' }),
  version: Type.String(),
  engine: Type.Enum(['sqlite', 'postgres']),
  time: Type.Unsafe<string>({ ...IsoTime, description: "The service's clock" }),
})
export type ServiceSettings = Static<typeof ServiceSettings>

/** `/api/settings`: how this node was started, for the people who use it. */
export function settingsRoutes(app: HttpApp, { store, clock, settings }: SettingsOptions): void {
  app.get(
    '/api/settings',
    {
      config: { scope: 'service' },
      schema: {
        tags: ['Service'],
        summary: 'Read the settings in effect',
        description: 'Of the node that answers; they come from its environment. Of a secret only whether it is set.',
        response: { 200: ServiceSettings, ...errorResponses() },
      },
    },
    async () => ({
      public_url: settings.publicUrl,
      retention: {
        minute_days: settings.retention.minuteDays,
        hour_days: settings.retention.hourDays,
        result_days: settings.retention.resultDays,
      },
      email_enabled: settings.isEmailOn,
      global_webhook: settings.hasGlobalWebhook,
      signed_webhooks: settings.signsWebhooks,
      heartbeat: settings.hasHeartbeat,
      admin_token: settings.hasAdminToken,
      viewer_token: settings.hasViewerToken,
      version: settings.version,
      engine: store.engine,
      time: isoTime(clock.now()),
    }),
  )
}
