import { Button, Group, Modal, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ExternalLink, Share2 } from 'lucide-react'
import { useState } from 'react'
import { useSession } from '../../api/session.ts'
import {
  type StatusLinkRecord,
  statusLinkQuery,
  subscribersQuery,
  useCreateStatusLink,
  useRemoveSubscriber,
  useRevokeStatusLink,
} from '../../api/status.ts'
import { counted, personName } from '../../lib/words.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { DialogEnd } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { ErrorState } from '../../ui/States.tsx'
import { StatusLooks } from './StatusLooks.tsx'
import classes from './status-link.module.css'

interface Props {
  clientId: string
}

/** A section of the client's page, which creates, copies and revokes the link to its status page. */
export function StatusLink({ clientId }: Props) {
  const { data, error, refetch } = useQuery(statusLinkQuery(clientId))
  return (
    <section className={classes.section} aria-labelledby="status-link">
      <h2 id="status-link">Shared status page</h2>
      <div className={classes.panel}>
        {data !== undefined ? (
          data.is_active ? (
            <Shared link={data} />
          ) : (
            <NotShared clientId={clientId} />
          )
        ) : error !== null ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeleton height={72} />
        )}
      </div>
    </section>
  )
}

function NotShared({ clientId }: Props) {
  const { mayChange } = useSession()
  const create = useCreateStatusLink(clientId)
  return (
    <>
      <p className={classes.text}>
        A page for people without a key: how the sites are doing, and what has been broken since when. It shows no key,
        address or setting. {mayChange ? 'Anyone with the link can see it until you revoke it.' : 'It is not shared.'}
      </p>
      {mayChange && (
        <div>
          <Button
            variant="default"
            leftSection={<Share2 size={16} aria-hidden />}
            loading={create.isPending}
            onClick={() => create.mutate()}
          >
            Make a link
          </Button>
        </div>
      )}
      {create.error !== null && <p role="alert">{create.error.message}</p>}
    </>
  )
}

function Shared({ link }: { link: StatusLinkRecord }) {
  const [isAsking, setAsking] = useState(false)
  const address = statusAddress(link)
  const made = (
    <p className={classes.text}>
      Shared <RelativeTime at={link.created_at} /> by {personName(link.created_by ?? 'anonymous')}. Anyone with the link
      can see the page.
    </p>
  )
  if (address === null) return made
  return (
    <>
      <div className={classes.address}>
        <TextInput
          className={classes.field}
          aria-label="Link to the status page"
          value={address}
          readOnly
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={address} what="link" />
      </div>
      {made}
      <Subscribers clientId={link.client_id} />
      <StatusLooks clientId={link.client_id} />
      <Group gap="sm">
        <Button
          component="a"
          href={address}
          target="_blank"
          rel="noreferrer"
          variant="default"
          leftSection={<ExternalLink size={16} aria-hidden />}
        >
          Open
        </Button>
        <Button variant="outline" color="danger" onClick={() => setAsking(true)}>
          Revoke …
        </Button>
      </Group>
      <Revoke clientId={link.client_id} opened={isAsking} onClose={() => setAsking(false)} />
    </>
  )
}

/** The address of the status page; null for viewers. Without `PUBLIC_URL` it is at this page's origin. */
export const statusAddress = ({ token, url }: StatusLinkRecord): string | null =>
  url ?? (token === null ? null : `${window.location.origin}/status/${token}`)

function Revoke({ clientId, opened, onClose }: Props & { opened: boolean; onClose: () => void }) {
  const revoke = useRevokeStatusLink(clientId)
  return (
    <Modal opened={opened} onClose={onClose} title="Revoke the link">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          revoke.mutate(undefined, { onSuccess: onClose })
        }}
      >
        <Stack gap="lg">
          <Text size="md">
            The link stops working for everyone, permanently. You can create a new link and share it again.
          </Text>
          <DialogEnd
            action="Revoke the link"
            isBusy={revoke.isPending}
            isDangerous
            onClose={onClose}
            fault={revoke.error?.message}
          />
        </Stack>
      </form>
    </Modal>
  )
}

/** The subscribers of the status page; renders nothing when there are none. */
function Subscribers({ clientId }: { clientId: string }) {
  const { mayChange } = useSession()
  const { data = [] } = useQuery(subscribersQuery(clientId))
  const remove = useRemoveSubscriber(clientId)
  if (data.length === 0) return null
  const confirmed = data.filter(({ confirmed_at }) => confirmed_at !== null).length
  return (
    <details className={classes.subscribers}>
      <summary>
        {counted(confirmed, 'subscriber')} by e-mail
        {confirmed < data.length && `, ${data.length - confirmed} not confirmed`}
      </summary>
      {mayChange && (
        <ul>
          {data.map(({ id, email, confirmed_at, is_failing }) => (
            <li key={id}>
              <span>
                {email}
                {confirmed_at === null && ' · not confirmed'}
                {is_failing && ' · the last e-mail was not taken'}
              </span>
              <Button
                variant="subtle"
                size="compact-sm"
                aria-label={`Remove ${email}`}
                loading={remove.isPending && remove.variables === id}
                onClick={() => remove.mutate(id)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
    </details>
  )
}
