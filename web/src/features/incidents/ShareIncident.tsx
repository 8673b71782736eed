import { Button, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Share2 } from 'lucide-react'
import type { IncidentDetail } from '../../api/incidents.ts'
import { useSession } from '../../api/session.ts'
import { statusLinkQuery, useCreateStatusLink } from '../../api/status.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { TextLink } from '../../ui/LinkButton.tsx'
import { Awaited } from '../../ui/States.tsx'
import { statusAddress } from '../status/StatusLink.tsx'
import classes from './incidents.module.css'

/** A page of the incident for people without a key, under the link of its client's status page. */
export function ShareIncident({ incident }: { incident: IncidentDetail }) {
  if (incident.client_id === null) {
    return (
      <Text c="dimmed" size="sm">
        Each client may see its own sites only: share the incidents of the sites, listed above.
      </Text>
    )
  }
  return <OfClient id={incident.id} clientId={incident.client_id} />
}

function OfClient({ id, clientId }: { id: string; clientId: string }) {
  const { mayChange } = useSession()
  const { data, error, refetch } = useQuery(statusLinkQuery(clientId))
  const create = useCreateStatusLink(clientId)
  if (data === undefined) return <Awaited error={error} onRetry={() => void refetch()} height={64} />
  const status = statusAddress(data)
  if (status !== null) {
    const address = `${status}/incidents/${id}`
    return (
      <>
        <Text c="dimmed" size="sm">
          Anyone with the link sees this incident and the{' '}
          <TextLink to="/clients/$clientId" params={{ clientId }}>
            status page
          </TextLink>{' '}
          of the client, without names of people, notes and settings, until it is revoked.
        </Text>
        <div className={classes.address}>
          <TextInput
            aria-label="Link to this incident"
            value={address}
            readOnly
            onFocus={(event) => event.currentTarget.select()}
          />
          <CopyButton text={address} what="link" />
        </div>
      </>
    )
  }
  return (
    <>
      <Text c="dimmed" size="sm">
        {data.is_active
          ? 'It is shared. Editors of the client see the link.'
          : 'The status page of the client is not shared, and neither is this incident.'}
      </Text>
      {mayChange && (
        <Button
          mt="xs"
          variant="default"
          leftSection={<Share2 size={16} aria-hidden />}
          loading={create.isPending}
          onClick={() => create.mutate()}
        >
          Make a link
        </Button>
      )}
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </>
  )
}
