import { BellRing } from 'lucide-react'
import type { Overview } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { Banner } from './Banner.tsx'
import { noChannel } from './no-channel.ts'

/** Says without working notifications, for as long as there is such a client. */
export function NoChannel({ clients }: { clients: Overview['clients_without_channel'] }) {
  const { mayChange } = useSession()
  if (clients.length === 0) return null
  const { words, named, more } = noChannel(clients)
  const to = mayChange ? '/clients/$clientId/edit' : '/clients/$clientId'
  const links = named.map(({ id, name }) => ({
    id,
    link: (
      <TextLink to={to} params={{ clientId: id }}>
        {name}
      </TextLink>
    ),
  }))
  return <Banner id="no-channel" tone="warning" icon={BellRing} words={words} named={links} more={more} />
}
