import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { accountQuery, useUpdateAccount } from '../../api/accounts.ts'
import { ApiError } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { useUnsaved } from '../../lib/use-unsaved.ts'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { Awaited } from '../../ui/States.tsx'
import { Card } from '../settings/Card.tsx'
import { Sessions } from './Sessions.tsx'
import { TwoStepCard } from './TwoStepCard.tsx'

/** The user's own account: name, password, and sessions. */
export function AccountPage() {
  const { user, role } = useSession()
  return (
    <>
      <PageHeader title="Your account">
        {user?.email ??
          (role === 'open' ? 'No one has to sign in here.' : 'You are signed in with a key, not an account.')}
      </PageHeader>
      {user !== null && (
        <Stack gap="lg">
          <NameCard name={user.name} />
          <SignInCards />
          <Card title="Sessions" about="Browsers that are signed in with your account.">
            <Sessions userId={null} />
          </Card>
        </Stack>
      )}
    </>
  )
}

/** The ways in which the user signs in. */
function SignInCards() {
  const { data: account, error, refetch } = useQuery(accountQuery)
  if (account === undefined) return <Awaited error={error} onRetry={() => void refetch()} height={120} />
  return account.has_password ? (
    <>
      <PasswordCard />
      <TwoStepCard account={account} />
    </>
  ) : (
    <Card title="Sign-in">
      <p>You sign in with your provider. This account has no password.</p>
    </Card>
  )
}

function NameCard({ name: given }: { name: string }) {
  const update = useUpdateAccount()
  const [name, setName] = useState(given)
  const isChanged = name.trim() !== given
  useUnsaved(() => !update.isPending && isChanged)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    update.mutate({ name })
  }
  return (
    <Card title="Name">
      <form onSubmit={submit}>
        <Stack gap="md" maw="24rem">
          <TextInput
            aria-label="Your name"
            autoComplete="name"
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            error={update.error?.message}
          />
          <Button
            type="submit"
            variant="default"
            disabled={name.trim() === '' || !isChanged}
            loading={update.isPending}
          >
            Save the name
          </Button>
        </Stack>
      </form>
    </Card>
  )
}

function PasswordCard() {
  const update = useUpdateAccount()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  // Only a new password counts as unsaved: browsers often fill in the current one.
  useUnsaved(() => !update.isPending && password !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    update.mutate(
      { current_password: current, password },
      {
        onSuccess: () => {
          setCurrent('')
          setPassword('')
        },
      },
    )
  }
  const fault = (path: string) => (update.error instanceof ApiError ? update.error.fault(path) : undefined)
  return (
    <Card title="Password" about="A new one ends all other sessions.">
      <form onSubmit={submit}>
        <Stack gap="md" maw="24rem">
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.currentTarget.value)}
            error={fault('/current_password')}
          />
          <PasswordInput
            label="New password"
            description="At least 12 characters"
            minLength={12}
            required
            withAsterisk={false}
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={fault('/password')}
          />
          <Button type="submit" variant="default" disabled={current === ''} loading={update.isPending}>
            Change the password
          </Button>
          <Text size="sm" role="status">
            {update.isSuccess ? 'Changed. All other sessions have ended.' : ''}
          </Text>
        </Stack>
      </form>
    </Card>
  )
}
