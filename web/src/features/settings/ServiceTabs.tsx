import { Anchor, Code, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSession } from '../../api/session.ts'
import { type NodeRecord, nodesQuery, type ServiceSettings } from '../../api/settings.ts'
import { counted } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { Card, FactList, WithSettings } from './Card.tsx'
import classes from './settings.module.css'

const EXAMPLE = `SMTP_URL=smtp://user:password@mail.example.com:587
SMTP_FROM=Tagwarden <alerts@example.com>`

/** Whether the service sends e-mail, and how to set it up. */
export function EmailTab() {
  return (
    <WithSettings>
      {({ email_enabled }) => (
        <Card
          title="E-mail"
          about="Alerts and digests go to the e-mail address of each client that has one."
          actions={<StatusBadge status={email_enabled ? 'ok' : 'unknown'}>{email_enabled ? 'on' : 'off'}</StatusBadge>}
        >
          {email_enabled ? (
            <p className={classes.empty}>
              The service sends through the mail server of <code>SMTP_URL</code>. Channels shows whether it accepts the
              messages; a test message to a client shows it at once.
            </p>
          ) : (
            <div className={classes.empty}>
              <p>Nothing goes out by e-mail. To switch it on, start the service with these settings:</p>
              <Code block className={classes.code}>
                {EXAMPLE}
              </Code>
              <p>
                <code>smtps://…:465</code> is TLS from the start. The address may also be in a file that{' '}
                <code>SMTP_URL_FILE</code> names. Then send a test message under Channels.
              </p>
            </div>
          )}
        </Card>
      )}
    </WithSettings>
  )
}

/** How long data is kept. */
export function RetentionTab() {
  return (
    <WithSettings>
      {({ retention: { minute_days, hour_days, result_days, audit_days } }) => (
        <Card title="Retention" about="Older data is deleted automatically. The service's settings decide how old.">
          <FactList
            facts={[
              {
                name: 'Counts by the minute, by five minutes after two days',
                value: counted(minute_days, 'day'),
                setting: 'RETENTION_MINUTE_DAYS',
              },
              {
                name: 'Counts by the hour, tags on events by the day after nine weeks',
                value: counted(hour_days, 'day'),
                setting: 'RETENTION_HOUR_DAYS',
              },
              {
                name: 'Results of probes, resolved alerts, messages',
                value: counted(result_days, 'day'),
                setting: 'RETENTION_RESULT_DAYS',
              },
              { name: 'The audit log', value: counted(audit_days, 'day'), setting: 'RETENTION_AUDIT_DAYS' },
            ]}
          />
        </Card>
      )}
    </WithSettings>
  )
}

const ROLES: Readonly<Record<string, string>> = {
  admin: 'You are signed in as admin and can change everything.',
  viewer: 'You are signed in as viewer: read-only, without keys, webhooks and addresses.',
  user: 'You are signed in with your account. People lists who else may do what.',
  open: 'No sign-in: anyone who can reach the service can change everything.',
}

/** Who may view and change what, and how to set it up. */
export function AccessTab() {
  const { role, accounts } = useSession()
  return (
    <WithSettings>
      {(settings) => (
        <Stack gap="lg">
          <Card title="Access" about={role === null ? undefined : ROLES[role]}>
            <FactList facts={accessFacts(settings)} />
          </Card>
          {!settings.admin_token && !accounts && (
            <Card title="Ask for a key">
              <div className={classes.empty}>
                <p>
                  Invite yourself under People, as owner of every client: from then on everyone signs in with an account
                  of their own. Or start the service with a key of at least 16 characters, for example:
                </p>
                <Code block className={classes.code}>
                  ADMIN_TOKEN=$(openssl rand -hex 32)
                </Code>
                <p>
                  The dashboard then asks for it, and programs send it as <code>Authorization: Bearer …</code>. What
                  tags send needs only the ingest key of their site.
                </p>
              </div>
            </Card>
          )}
        </Stack>
      )}
    </WithSettings>
  )
}

const accessFacts = ({ admin_token, viewer_token, public_url }: ServiceSettings) => [
  { name: 'Admin key', setting: 'ADMIN_TOKEN', value: <IsSet isSet={admin_token} whenNot="warning" /> },
  { name: 'Viewer key', setting: 'VIEWER_TOKEN', value: <IsSet isSet={viewer_token} whenNot="unknown" /> },
  { name: 'Public address', setting: 'PUBLIC_URL', value: public_url ?? 'not set: links name the address listened on' },
]

function IsSet({ isSet, whenNot }: { isSet: boolean; whenNot: 'warning' | 'unknown' }) {
  return <StatusBadge status={isSet ? 'ok' : whenNot}>{isSet ? 'set' : 'not set'}</StatusBadge>
}

const ENGINES = { sqlite: 'SQLite, embedded', postgres: 'PostgreSQL' } as const

/** The version and the processes. */
export function AboutTab() {
  return (
    <Stack gap="lg">
      <WithSettings>
        {(settings) => (
          <Card title="Tagwarden">
            <FactList facts={aboutFacts(settings)} />
          </Card>
        )}
      </WithSettings>
      <Nodes />
    </Stack>
  )
}

const aboutFacts = ({ version, engine, heartbeat, signed_webhooks }: ServiceSettings) => [
  { name: 'Version', value: version },
  { name: 'Database', value: ENGINES[engine] },
  { name: 'Heartbeat', value: heartbeat ? 'calls an address every minute' : 'off', setting: 'HEARTBEAT_URL' },
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

const NODE_ROLES: Readonly<Record<string, string>> = {
  all: 'everything',
  ingest: 'takes what tags send',
  worker: 'everything but what tags send',
}

const NODE_COLUMNS: Column<NodeRecord>[] = [
  {
    key: 'state',
    title: 'State',
    width: '7rem',
    render: ({ is_alive }) => (
      <StatusBadge status={is_alive ? 'ok' : 'critical'}>{is_alive ? 'alive' : 'gone'}</StatusBadge>
    ),
  },
  { key: 'name', title: 'Node', sortBy: ({ name }) => name, render: ({ name }) => <code>{name}</code> },
  { key: 'role', title: 'Does', width: '14rem', render: ({ role }) => NODE_ROLES[role] ?? role },
  { key: 'version', title: 'Version', width: '6rem', render: ({ version }) => version },
  {
    key: 'started',
    title: 'Started',
    width: '8rem',
    sortBy: ({ started_at }) => Date.parse(started_at),
    render: ({ started_at }) => <RelativeTime at={started_at} />,
  },
  {
    key: 'seen',
    title: 'Last seen',
    width: '8rem',
    render: ({ last_seen_at }) => <RelativeTime at={last_seen_at} />,
  },
]

/** The processes that share the database. */
function Nodes() {
  const { data, error, refetch } = useQuery(nodesQuery)
  return (
    <Card title="Nodes" about="The processes on this database, and those that died within the last day.">
      {data !== undefined ? (
        <DataTable label="Processes on this database" columns={NODE_COLUMNS} rows={data} keyOf={({ id }) => id} />
      ) : error !== null ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={80} radius="md" aria-busy="true" />
      )}
    </Card>
  )
}
