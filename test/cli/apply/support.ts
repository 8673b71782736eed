import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { apply } from '../../../src/cli/apply/run.ts'
import { systemClock } from '../../../src/lib/index.ts'
import { bearer } from '../../../testkit/api.ts'
import { tempDir } from '../../../testkit/engines.ts'
import { startTestService } from '../../../testkit/service.ts'

export const ADMIN = 'admin-token-0123456789'
export const VIEWER = 'viewer-token-0123456789'

export const OWNER = { isOpen: false, all: 'owner', owned: [], email: null } as const

export interface Applied {
  code: number
  lines: string[]
}

interface Options {
  plan?: boolean
  json?: boolean
  prune?: boolean
  environment?: Readonly<Record<string, string>>
  token?: string
  /** Receives each line when it is printed. */
  onLine?: (line: string) => void
}

/** A service that wants a token, and the command that brings it to what files say. */
export async function startApplying(t: TestContext, settings: Readonly<Record<string, string>> = {}) {
  const service = await startTestService(t, systemClock, { ADMIN_TOKEN: ADMIN, VIEWER_TOKEN: VIEWER, ...settings })
  const folder = await tempDir(t)

  const write = async (files: Readonly<Record<string, string>>): Promise<string[]> => {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), text)
    }
    return Object.keys(files).map((name) => join(folder, name))
  }
  const applyPaths = async (paths: readonly string[], options: Options = {}): Promise<Applied> => {
    const { plan = false, json = false, prune = false, environment = {}, token = ADMIN, onLine } = options
    const lines: string[] = []
    const print = (line: string) => {
      lines.push(line)
      onLine?.(line)
    }
    return { code: await apply({ paths, plan, json, prune, environment, url: service.url, token, print }), lines }
  }
  return {
    service,
    folder,
    write,
    applyPaths,
    /** Of a single file. */
    applyText: async (text: string, options?: Options) => applyPaths(await write({ 'clients.yaml': text }), options),
    /** The whole answer to a GET, as an admin. */
    ask: async <T>(path: string): Promise<T> => (await service.call('GET', path, undefined, bearer(ADMIN))).json<T>(),
    change: async (method: string, path: string, body?: object) => {
      const answer = await service.call(method, path, body, bearer(ADMIN))
      if (answer.status >= 300) throw new Error(answer.text)
    },
  }
}

/** Something of everything. */
export const EVERYTHING = `
clients:
  - name: Acme
    email: ops@acme.example
    chat_webhook: \${ACME_CHAT}
    plan: enterprise
    requests_per_second: 50
    reminder_minutes: 60
    quiet_from: "22:00"
    quiet_to: "07:00"
    digest: daily
    status_page:
      shared: true
      accent: "#2f5fd0"
    channels:
      - kind: pagerduty
        name: On call
        address: \${ACME_PAGER}
        minimum_severity: critical
      - kind: webhook
        name: Signed
        address: https://hooks.acme.example/in?key=abc
        secret: \${ACME_SECRET}
      - kind: opsgenie
        name: Europe
        address: \${ACME_OPSGENIE}
        endpoint: https://api.eu.opsgenie.com/?a=$\${b}
        is_active: false
      - kind: email
        name: Night
        address: night@acme.example
    maintenance:
      - title: Weekly release
        kind: weekly
        weekdays: [4, 2]
        start: "03:00"
        duration_minutes: 60
        timezone: Europe/Berlin
    sites:
      - name: Shop
        url: https://shop.acme.example/?a=$\${b}
        timezone: Europe/Berlin
        tag_server_url: https://sst.acme.example
        hosting_a_container_id: abc
        average_order_value: 74.5
        currency: EUR
        slo_target: 99.5
        probes:
          - type: http_health
            name: Front door
            interval_seconds: 120
            failure_threshold: 3
            maintenance:
              - title: Move
                kind: once
                starts_at: 2126-11-20T10:00:00+01:00
                ends_at: 2126-11-20T12:00:00+01:00
          - type: data_volume
          - type: image_version
            config:
              hosting_a_token: \${HOSTING}
            is_active: false
        maintenance:
          - title: Night shift
            kind: weekly
            weekdays: [1]
            start: "23:30"
            duration_minutes: 90
      - name: Blog
        url: https://blog.acme.example
        is_active: false
  - name: Beta
    plan: pro
    sites:
      - name: Shop
        url: https://beta.example
        tag_server_url: https://sst.beta.example
        auto_probes: true
`

export const SECRETS = {
  ACME_CHAT: 'https://hooks.slack.com/services/T000/B000/verysecret',
  ACME_PAGER: '0123456789abcdef0123456789abcdef',
  ACME_SECRET: 'a-secret-of-its-own-0123',
  ACME_OPSGENIE: 'opsgenie-key-0123456789',
  HOSTING: 'hosting-token-0123456789',
}
