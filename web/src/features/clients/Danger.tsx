import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type ClientRecord, useDeleteClient, useUpdateClient } from '../../api/clients.ts'
import { probesQuery } from '../../api/probes.ts'
import { roleFor, useSession } from '../../api/session.ts'
import { type SiteRecord, sitesQuery, useDeleteSite, useUpdateSite } from '../../api/sites.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useLeadOn } from '../../lib/use-lead-on.ts'
import { counted } from '../../lib/words.ts'
import { Confirm, ConfirmByName } from '../../ui/Confirm.tsx'
import { LinkButton } from '../../ui/LinkButton.tsx'
import classes from './form.module.css'

/** "3 sites"; "all sites" while their number is unknown. */
const howMany = (things: readonly unknown[] | undefined, one: string, many = `${one}s`, unknown = `all ${many}`) =>
  things === undefined ? unknown : counted(things.length, one, many)

/** Pausing a client, and deleting it with everything that belongs to it. */
export function ClientDanger({ client }: { client: ClientRecord }) {
  const update = useUpdateClient(client.id)
  const remove = useDeleteClient(client.id)
  const session = useSession()
  const { mayAddClients } = session
  const mayDelete = roleFor(session, client.id) === 'owner'
  const leadOn = useLeadOn()
  const [isDeleting, setDeleting] = useState(false)
  const [isPausing, setPausing] = useState(false)
  const { data: sites } = useQuery(sitesQuery(client.id))
  const { data: probes } = useQuery({ ...probesQuery(undefined, client.id), enabled: isDeleting })
  const onError = notifyOf()
  return (
    <section className={classes.danger} aria-label="Pausing and deleting">
      <h2>Pausing and deleting</h2>
      <Act
        title={client.is_active ? 'Pause the client' : 'Resume the client'}
        action={client.is_active ? 'Pause …' : 'Resume'}
        isBusy={update.isPending}
        isLocked={!mayAddClients}
        onAct={() => (client.is_active ? setPausing(true) : update.mutate({ is_active: true }, { onError }))}
      >
        {client.is_active
          ? 'What its sites send is refused, its probes do not run and no one is notified. All data stays, and you can resume it.'
          : 'What its sites send is accepted again, and its probes run.'}
        {!mayAddClients && ' Only an editor of all clients can do this. You can pause its sites.'}
      </Act>
      <Act title="Delete the client" action="Delete …" isFinal isLocked={!mayDelete} onAct={() => setDeleting(true)}>
        With {howMany(sites, 'site')} and everything they have sent. This cannot be undone.
        {!mayDelete && ' Only an owner of the client can do this.'}
      </Act>
      <Confirm
        opened={isPausing}
        onClose={() => setPausing(false)}
        onConfirm={() => update.mutateAsync({ is_active: false })}
        title={`Pause the client ${client.name}`}
        action="Pause"
      >
        What its {howMany(sites, 'site sends', 'sites send', 'sites send')} is refused and not counted, its probes do
        not run and no one is notified, until it is resumed.
      </Confirm>
      <ConfirmByName
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await remove.mutateAsync(undefined)
          notifications.show({ message: `${client.name} is deleted` })
          await leadOn({ to: '/clients', ignoreBlocker: true })
        }}
        title={`Delete the client ${client.name}`}
        name={client.name}
        action="Delete the client"
      >
        Deletes {howMany(sites, 'site')}, {howMany(probes, 'probe')} with their results and alerts, and all counts. The
        tags of its sites are refused from then on.
      </ConfirmByName>
    </section>
  )
}

/** A link to a site's keys, pausing the site, and deleting it. */
export function SiteDanger({ site }: { site: SiteRecord }) {
  const update = useUpdateSite(site.id)
  const remove = useDeleteSite(site.id)
  const leadOn = useLeadOn()
  const [asking, setAsking] = useState<'pause' | 'delete' | null>(null)
  const { data: probes } = useQuery(probesQuery(site.id))
  const onError = notifyOf()
  const close = () => setAsking(null)
  return (
    <section className={classes.danger} aria-label="Keys, pausing and deleting">
      <h2>Keys, pausing and deleting</h2>
      <div className={classes.act}>
        <div>
          <h3>Ingest keys</h3>
          <p>Replace a key, or revoke one that has leaked. The site keeps its history.</p>
        </div>
        <LinkButton to="/sites/$siteId/keys" params={{ siteId: site.id }} variant="default">
          Keys of the site
        </LinkButton>
      </div>
      <Act
        title={site.is_active ? 'Pause the site' : 'Resume the site'}
        action={site.is_active ? 'Pause …' : 'Resume'}
        isBusy={update.isPending}
        onAct={() => (site.is_active ? setAsking('pause') : update.mutate({ is_active: true }, { onError }))}
      >
        {site.is_active
          ? 'What it sends is refused and its probes do not run. All data stays, and you can resume it.'
          : 'What it sends is accepted again, and its probes run.'}
      </Act>
      <Act title="Delete the site" action="Delete …" isFinal onAct={() => setAsking('delete')}>
        With {howMany(probes, 'probe')} and everything it has sent. This cannot be undone.
      </Act>
      <Confirm
        opened={asking === 'pause'}
        onClose={close}
        onConfirm={() => update.mutateAsync({ is_active: false })}
        title={`Pause the site ${site.name}`}
        action="Pause"
      >
        What it sends is refused and not counted, and its {howMany(probes, 'probe does', 'probes do', 'probes do')} not
        run, until it is resumed.
      </Confirm>
      <ConfirmByName
        opened={asking === 'delete'}
        onClose={close}
        onConfirm={async () => {
          await remove.mutateAsync(undefined)
          notifications.show({ message: `${site.name} is deleted` })
          await leadOn({ to: '/clients/$clientId', params: { clientId: site.client_id }, ignoreBlocker: true })
        }}
        title={`Delete the site ${site.name}`}
        name={site.name}
        action="Delete the site"
      >
        Deletes {howMany(probes, 'probe')} with their results and alerts, and all counts of the site. Its tag is refused
        from then on.
      </ConfirmByName>
    </section>
  )
}

interface Props {
  title: string
  /** Says what it does and whether it can be undone. */
  children: ReactNode
  /** The button's text. */
  action: string
  isFinal?: boolean
  isBusy?: boolean
  /** True when the user may not do it. */
  isLocked?: boolean
  onAct: () => void
}

/** An action with far-reaching consequences: what they are, and its button. */
function Act({ title, children, action, isFinal = false, isBusy = false, isLocked = false, onAct }: Props) {
  return (
    <div className={classes.act}>
      <div>
        <h3>{title}</h3>
        <p>{children}</p>
      </div>
      <Button
        variant={isFinal ? 'outline' : 'default'}
        {...(isFinal ? { color: 'danger' } : {})}
        loading={isBusy}
        disabled={isLocked}
        onClick={onAct}
      >
        {action}
      </Button>
    </div>
  )
}
