import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useMemo, useState } from 'react'
import {
  type PasswordLink,
  type UserRecord,
  useDeleteUser,
  useNewLink,
  useResetTwoStep,
  usersQuery,
} from '../../api/accounts.ts'
import { clientsQuery } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { Confirm } from '../../ui/Confirm.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited, MayNotChange } from '../../ui/States.tsx'
import { StatusBadge } from '../../ui/status/StatusMark.tsx'
import { Card } from '../settings/Card.tsx'
import { LinkDialog } from './OnceShown.tsx'
import { InviteForm, PersonForm } from './PersonForms.tsx'
import classes from './people.module.css'
import { rolesInWords } from './RoleFields.tsx'
import { SessionsDialog } from './Sessions.tsx'

/** The accounts and their roles. */
export function PeopleTab() {
  const { isOwner } = useSession()
  return isOwner ? <People /> : <MayNotChange />
}

interface GivenLink {
  to: string
  link: PasswordLink
}

function People() {
  const { role } = useSession()
  const { data, error, refetch } = useQuery(usersQuery)
  const [isInviting, setInviting] = useState(false)
  const [given, setGiven] = useState<GivenLink | null>(null)
  return (
    <Card
      title="People"
      about="Each signs in with e-mail and password, and sees the clients of their roles only."
      actions={
        <Button variant="default" leftSection={<UserPlus size={16} aria-hidden />} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      {data === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={120} />
      ) : data.length === 0 ? (
        <p className={classes.muted}>
          No one yet. Invite yourself first, as owner of every client, and choose your password: from then on everyone
          has to sign in.
        </p>
      ) : (
        <ul className={classes.list}>
          {data.map((user) => (
            <Person key={user.id} user={user} onLink={(link) => setGiven({ to: user.email, link })} />
          ))}
        </ul>
      )}
      {isInviting && (
        <InviteForm
          onClose={() => setInviting(false)}
          onInvited={({ email, link }) => {
            setInviting(false)
            // From now on this page may see nothing, so the sign-in would cover the link, which is shown only once.
            if (link !== null && role === 'open') openWelcome(link)
            else if (link !== null) setGiven({ to: email, link })
          }}
        />
      )}
      {given !== null && <LinkDialog to={given.to} link={given.link} onClose={() => setGiven(null)} />}
    </Card>
  )
}

/** Opens the page of a link on this address, as the one in the link may not lead here yet. */
function openWelcome({ url }: PasswordLink): void {
  const { pathname, hash } = new URL(url)
  window.location.assign(pathname + hash)
}

const STATUS = { active: 'ok', invited: 'unknown', disabled: 'critical' } as const

function Person({ user, onLink }: { user: UserRecord; onLink: (link: PasswordLink) => void }) {
  const { ownsAll, user: me } = useSession()
  const { data: clients = [] } = useQuery(clientsQuery)
  const names = useMemo(() => new Map(clients.map(({ id, name }) => [id, name])), [clients])
  const newLink = useNewLink()
  const remove = useDeleteUser()
  const resetTwoStep = useResetTwoStep()
  const [open, setOpen] = useState<'edit' | 'sessions' | 'second step' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const { id, name, email, status, roles, group_roles, two_step, last_sign_in_at } = user
  return (
    <li className={classes.entry}>
      <span className={classes.what}>
        <b>{name}</b>
        <span>{email}</span>
        <StatusBadge status={STATUS[status]}>{id === me?.id ? 'you' : status}</StatusBadge>
        <span className={classes.muted}>
          {rolesInWords(roles, (client) => names.get(client) ?? 'a client')}
          {group_roles.length > 0 &&
            ` · by groups: ${rolesInWords(group_roles, (client) => names.get(client) ?? 'a client')}`}
          {last_sign_in_at !== null && (
            <>
              {' · last sign-in '}
              <RelativeTime at={last_sign_in_at} />
            </>
          )}
        </span>
      </span>
      <span className={classes.acts}>
        <Button size="compact-sm" variant="default" aria-label={`Edit ${name}`} onClick={() => setOpen('edit')}>
          Edit
        </Button>
        {(ownsAll || status === 'invited') && (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`${status === 'invited' ? 'New invitation' : 'Password link'} for ${name}`}
            loading={newLink.isPending}
            onClick={() => newLink.mutate(id, { onSuccess: onLink })}
          >
            {status === 'invited' ? 'New invitation' : 'Password link'}
          </Button>
        )}
        {ownsAll && (
          <>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`Sessions of ${name}`}
              onClick={() => setOpen('sessions')}
            >
              Sessions
            </Button>
            {two_step && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`Remove the second step of ${name}`}
                onClick={() => setOpen('second step')}
              >
                Second step …
              </Button>
            )}
            <Button size="compact-sm" variant="default" aria-label={`Delete ${name}`} onClick={() => setOpen('delete')}>
              Delete …
            </Button>
          </>
        )}
      </span>
      {newLink.error !== null && <span role="alert">{newLink.error.message}</span>}
      {open === 'edit' && <PersonForm user={user} onClose={close} />}
      {open === 'sessions' && <SessionsDialog userId={id} name={name} onClose={close} />}
      <Confirm
        opened={open === 'second step'}
        onClose={close}
        onConfirm={() => resetTwoStep.mutateAsync(id)}
        title={`Remove the second step of ${name}`}
        action="Remove"
      >
        For someone who has lost their phone and recovery codes. {name} then signs in with the password alone, until
        they add a second step again. Make sure that it is {name} who asks.
      </Confirm>
      <Confirm
        opened={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.mutateAsync(id)}
        title={`Delete the account of ${name}`}
        action="Delete"
      >
        Its sessions end now. The audit log keeps what {name} did.
      </Confirm>
    </li>
  )
}
