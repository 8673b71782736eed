import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { sessionsQuery, useEndSession } from '../../api/accounts.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { Dialog, useFocusKept } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited } from '../../ui/States.tsx'
import classes from './people.module.css'

interface Props {
  userId: string
  name: string
  onClose: () => void
}

export function SessionsDialog({ userId, name, onClose }: Props) {
  return (
    <Dialog onClose={onClose} title={`Sessions of ${name}`}>
      <Sessions userId={userId} />
    </Dialog>
  )
}

/** The browsers signed in with an account. @param userId null for one's own */
export function Sessions({ userId }: { userId: string | null }) {
  const { data, error, refetch } = useQuery(sessionsQuery(userId))
  const end = useEndSession(userId)
  useFocusKept(data?.length ?? 0)
  if (data === undefined) return <Awaited error={error} onRetry={() => void refetch()} height={64} />
  if (data.length === 0) return <p className={classes.muted}>None: no browser is signed in.</p>
  return (
    <ul className={classes.list}>
      {data.map(({ id, agent, last_seen_at, is_current }) => (
        <li key={id} className={classes.entry}>
          <span className={classes.what}>
            <b>{agent ?? 'An unknown browser'}</b>
            <span className={classes.muted}>
              {is_current ? (
                'this one'
              ) : (
                <>
                  last seen <RelativeTime at={last_seen_at} />
                </>
              )}
            </span>
          </span>
          {!is_current && (
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`End the session of ${agent ?? 'an unknown browser'}`}
              loading={end.isPending && end.variables === id}
              onClick={() =>
                end.mutate(id, {
                  onError: notifyOf('Not ended'),
                })
              }
            >
              End
            </Button>
          )}
        </li>
      ))}
    </ul>
  )
}
