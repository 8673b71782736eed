import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type ClientRecord, useDeleteClient, useUpdateClient } from '../../api/clients.ts'
import { probesQuery } from '../../api/probes.ts'
import { sitesQuery } from '../../api/sites.ts'
import { counted } from '../../lib/words.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { ConfirmByName } from '../../ui/ConfirmByName.tsx'
import { Act } from './Act.tsx'
import classes from './form.module.css'

/** Switching a client off, and deleting it with all that is its. */
export function ClientDanger({ client }: { client: ClientRecord }) {
  const update = useUpdateClient(client.id)
  const remove = useDeleteClient(client.id)
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const [isSwitchingOff, setSwitchingOff] = useState(false)
  const { data: sites = [] } = useQuery(sitesQuery(client.id))
  const { data: probes = [] } = useQuery({ ...probesQuery(undefined), enabled: isDeleting })
  const ids = new Set(sites.map(({ id }) => id))
  const probeCount = probes.filter(({ site_id }) => ids.has(site_id)).length
  const onError = (error: Error) => notifications.show({ color: 'danger', message: error.message })
  return (
    <section className={classes.danger} aria-label="Switching off and deleting">
      <h2>Switching off and deleting</h2>
      <Act
        title={client.is_active ? 'Switch the client off' : 'Switch the client on'}
        action={client.is_active ? 'Switch off …' : 'Switch on'}
        isBusy={update.isPending}
        onAct={() => (client.is_active ? setSwitchingOff(true) : update.mutate({ is_active: true }, { onError }))}
      >
        {client.is_active
          ? 'What its sites send is refused, its probes pause and no one is notified. All data stays, and you can switch it on again.'
          : 'Its sites are accepted again, and its probes run.'}
      </Act>
      <Act title="Delete the client" action="Delete …" isFinal onAct={() => setDeleting(true)}>
        With {counted(sites.length, 'site')} and everything they have sent. This cannot be undone.
      </Act>
      <Confirm
        opened={isSwitchingOff}
        onClose={() => setSwitchingOff(false)}
        onConfirm={() => update.mutateAsync({ is_active: false })}
        title={`Switch off the client ${client.name}`}
        action="Switch off"
      >
        Everything that its {counted(sites.length, 'site')} send is refused and not counted, probes rest, and no one is
        notified of anything, until it is switched on again.
      </Confirm>
      <ConfirmByName
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        onConfirm={async () => {
          await remove.mutateAsync(undefined)
          notifications.show({ message: `${client.name} is deleted` })
          await navigate({ to: '/clients' })
        }}
        title={`Delete the client ${client.name}`}
        name={client.name}
        action="Delete the client"
      >
        Deletes {counted(sites.length, 'site')}, {counted(probeCount, 'probe')} with their results and alerts, and all
        counts. The tags of its sites are refused from then on.
      </ConfirmByName>
    </section>
  )
}
