import { Code, Stack } from '@mantine/core'
import { useSession } from '../../api/session.ts'
import type { ServiceSettings } from '../../api/settings.ts'
import { StatusBadge } from '../../ui/status/StatusBadge.tsx'
import { Card } from './Card.tsx'
import { FactList } from './FactList.tsx'
import classes from './settings.module.css'
import { WithSettings } from './WithSettings.tsx'

const ROLES: Readonly<Record<string, string>> = {
  admin: 'You are signed in as admin and can change everything.',
  viewer: 'You are signed in as viewer: read-only, without keys, webhooks and addresses.',
  open: 'No sign-in: anyone who can reach the service can change everything.',
}

/** Who may look and change, and how to set it. */
export function AccessTab() {
  const { role } = useSession()
  return (
    <WithSettings>
      {(settings) => (
        <Stack gap="lg">
          <Card title="Access" about={role === null ? undefined : ROLES[role]}>
            <FactList facts={factsOf(settings)} />
          </Card>
          {!settings.admin_token && (
            <Card title="Ask for a key">
              <div className={classes.empty}>
                <p>Start the service with a key of at least 16 characters, for example:</p>
                <Code block className={classes.code}>
                  ADMIN_TOKEN=$(openssl rand -hex 32)
                </Code>
                <p>
                  The dashboard then asks for it, and programs send it as <code>Authorization: Bearer …</code>. What
                  tags send needs the ingest key of their site only.
                </p>
              </div>
            </Card>
          )}
        </Stack>
      )}
    </WithSettings>
  )
}

const factsOf = ({ admin_token, viewer_token, public_url }: ServiceSettings) => [
  { name: 'Admin key', setting: 'ADMIN_TOKEN', value: <IsSet isSet={admin_token} whenNot="warning" /> },
  { name: 'Viewer key', setting: 'VIEWER_TOKEN', value: <IsSet isSet={viewer_token} whenNot="unknown" /> },
  { name: 'Public address', setting: 'PUBLIC_URL', value: public_url ?? 'not set: links name the address listened on' },
]

function IsSet({ isSet, whenNot }: { isSet: boolean; whenNot: 'warning' | 'unknown' }) {
  return <StatusBadge status={isSet ? 'ok' : whenNot}>{isSet ? 'set' : 'not set'}</StatusBadge>
}
