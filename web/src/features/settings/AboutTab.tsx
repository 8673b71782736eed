import { Anchor, Stack } from '@mantine/core'
import type { ServiceSettings } from '../../api/settings.ts'
import { Card } from './Card.tsx'
import { FactList } from './FactList.tsx'
import { Nodes } from './Nodes.tsx'
import { WithSettings } from './WithSettings.tsx'

const ENGINES = { sqlite: 'SQLite, embedded', postgres: 'PostgreSQL' } as const

/** What runs here. */
export function AboutTab() {
  return (
    <Stack gap="lg">
      <WithSettings>
        {(settings) => (
          <Card title="Tagwarden">
            <FactList facts={factsOf(settings)} />
          </Card>
        )}
      </WithSettings>
      <Nodes />
    </Stack>
  )
}

const factsOf = ({ version, engine, heartbeat, signed_webhooks }: ServiceSettings) => [
  { name: 'Version', value: version },
  { name: 'Database', value: ENGINES[engine] },
  { name: 'Heartbeat', value: heartbeat ? 'asks an address every minute' : 'off', setting: 'HEARTBEAT_URL' },
  {
    name: 'Signed webhooks',
    value: signed_webhooks ? 'on: receivers can verify that a message is from here' : 'off',
    setting: 'WEBHOOK_SECRET',
  },
  {
    name: 'Interface',
    value: (
      <>
        <Anchor href="/api/docs" target="_blank" rel="noreferrer">
          Documentation of the API
        </Anchor>
        {' · '}
        <Anchor href="/api/openapi.json" target="_blank" rel="noreferrer">
          OpenAPI
        </Anchor>
      </>
    ),
  },
]
