import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSession } from '../../api/session.ts'
import { subscribersQuery, useRemoveSubscriber } from '../../api/status.ts'
import { counted } from '../../lib/words.ts'
import classes from './status-link.module.css'

/** Who gets e-mail about the page; nothing while no one does. */
export function Subscribers({ clientId }: { clientId: string }) {
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
