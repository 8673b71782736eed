import { BellRing } from 'lucide-react'
import type { Overview } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import classes from './NoChannel.module.css'
import { noChannel } from './no-channel.ts'

/** Says of whose alerts nobody would be told, for as long as there is such a client. */
export function NoChannel({ clients }: { clients: Overview['clients_without_channel'] }) {
  const { mayChange } = useSession()
  if (clients.length === 0) return null
  const { words, named, more } = noChannel(clients)
  return (
    <section className={classes.banner} aria-labelledby="no-channel">
      <BellRing size={16} aria-hidden />
      <div className={classes.words}>
        <h2 id="no-channel">{words}</h2>
        <ul>
          {named.map(({ id, name }) => (
            <li key={id}>
              <TextLink to={mayChange ? '/clients/$clientId/edit' : '/clients/$clientId'} params={{ clientId: id }}>
                {name}
              </TextLink>
            </li>
          ))}
          {more > 0 && (
            <li>
              <TextLink to="/clients">and {more} more</TextLink>
            </li>
          )}
        </ul>
      </div>
    </section>
  )
}
