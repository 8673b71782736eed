import { type Static, Type } from 'typebox'
import { DEAD_AFTER_MS, listNodes } from '../cluster/index.ts'
import { type HttpApp, IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { type Clock, isoTime, SECOND } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

export interface NodesOptions {
  store: Store
  clock: Clock
}

const Node = model('Node', {
  id: Uuid,
  name: Type.String({ description: 'Host name and process id' }),
  role: Type.String({ description: '`all`, `ingest` or `worker`' }),
  version: Type.String(),
  started_at: IsoTime,
  last_seen_at: IsoTime,
  is_alive: Type.Boolean({ description: `Seen within the last ${DEAD_AFTER_MS / SECOND} seconds` }),
  leases: Type.Array(Type.String(), {
    description: 'Work that one node does at a time, and that this node has taken on',
  }),
})
export type NodeRecord = Static<typeof Node>

/** Adds `/api/nodes`: which processes run on the database. */
export function nodeRoutes(app: HttpApp, { store, clock }: NodesOptions): void {
  app.get(
    '/api/nodes',
    {
      config: { scope: 'service' },
      schema: {
        tags: ['Service'],
        summary: 'List the nodes',
        description: 'The processes on this database, the oldest first, and those that died within the last day.',
        response: { 200: Type.Array(Node) },
      },
    },
    async () => {
      const nodes = await listNodes(store.read, clock.now())
      return nodes.map((node) => ({
        id: node.id,
        name: node.name,
        role: node.role,
        version: node.version,
        started_at: isoTime(node.startedAt),
        last_seen_at: isoTime(node.lastSeenAt),
        is_alive: node.isAlive,
        leases: node.leases,
      }))
    },
  )
}

/** The settings in effect. Secrets, and addresses that contain secrets, only as whether they are set. */
interface SettingsInEffect {
  publicUrl: string | null
  retention: { minuteDays: number; hourDays: number; resultDays: number; auditDays: number }
  isEmailOn: boolean
  hasGlobalWebhook: boolean
  signsWebhooks: boolean
  hasHeartbeat: boolean
  hasAdminToken: boolean
  hasViewerToken: boolean
  defaultPlan: string
  version: string
}

interface SettingsOptions {
  store: Pick<Store, 'engine'>
  clock: Clock
  settings: SettingsInEffect
}

const Days = (name: string, what: string) => Type.Integer({ description: `${name}: ${what}` })

export const ServiceSettings = model('ServiceSettings', {
  public_url: nullable(
    Type.String({ description: 'PUBLIC_URL; null: links use the address that the service listens on' }),
  ),
  retention: Type.Object({
    minute_days: Days('RETENTION_MINUTE_DAYS', 'minute rows'),
    hour_days: Days('RETENTION_HOUR_DAYS', 'hour rows'),
    result_days: Days('RETENTION_RESULT_DAYS', 'results of probes, alerts that are over, and messages'),
    audit_days: Days('RETENTION_AUDIT_DAYS', 'the audit log'),
  }),
  email_enabled: Type.Boolean({ description: 'Whether SMTP_URL is set' }),
  global_webhook: Type.Boolean({ description: 'Whether CHAT_WEBHOOK_URL is set' }),
  signed_webhooks: Type.Boolean({ description: 'Whether WEBHOOK_SECRET is set' }),
  heartbeat: Type.Boolean({ description: 'Whether HEARTBEAT_URL is set' }),
  admin_token: Type.Boolean({ description: 'Whether ADMIN_TOKEN is set; without it anyone may change everything' }),
  viewer_token: Type.Boolean({ description: 'Whether VIEWER_TOKEN is set' }),
  default_plan: Type.String({ description: 'DEFAULT_PLAN: plan of a new client' }),
  version: Type.String(),
  engine: Type.Enum(['sqlite', 'postgres']),
  time: Type.Unsafe<string>({ ...IsoTime, description: "The service's clock" }),
})
export type ServiceSettings = Static<typeof ServiceSettings>

/** Adds `/api/settings`: how this node was started, for the people who use it. */
export function settingsRoutes(app: HttpApp, { store, clock, settings }: SettingsOptions): void {
  app.get(
    '/api/settings',
    {
      config: { scope: 'service' },
      schema: {
        tags: ['Service'],
        summary: 'Read the settings in effect',
        description: 'Those of the node that answers, from its environment. For secrets only whether they are set.',
        response: { 200: ServiceSettings },
      },
    },
    async () => ({
      public_url: settings.publicUrl,
      retention: {
        minute_days: settings.retention.minuteDays,
        hour_days: settings.retention.hourDays,
        result_days: settings.retention.resultDays,
        audit_days: settings.retention.auditDays,
      },
      email_enabled: settings.isEmailOn,
      global_webhook: settings.hasGlobalWebhook,
      signed_webhooks: settings.signsWebhooks,
      heartbeat: settings.hasHeartbeat,
      admin_token: settings.hasAdminToken,
      viewer_token: settings.hasViewerToken,
      default_plan: settings.defaultPlan,
      version: settings.version,
      engine: store.engine,
      time: isoTime(clock.now()),
    }),
  )
}
