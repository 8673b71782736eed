import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { encode } from 'uqr'
import { type AccountRecord, useTwoStep } from '../../api/accounts.ts'
import { ApiError } from '../../api/client.ts'
import { counted } from '../../lib/words.ts'
import { Dialog, DialogEnd } from '../../ui/Dialog.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Card } from '../settings/Card.tsx'
import { OnceShown } from './OnceShown.tsx'
import classes from './people.module.css'

type Step = 'begin' | 'renew' | 'off'

/** Two-step sign-in of the user's own account: whether it is on, and how to change that. */
export function TwoStepCard({ account: { two_step: on } }: { account: AccountRecord }) {
  const [open, setOpen] = useState<Step | null>(null)
  const close = () => setOpen(null)
  return (
    <Card
      title="Second step"
      about="A code from an app on your phone, asked for after the password. Someone who learns your password cannot get in."
      actions={
        on === null ? (
          <Button variant="default" onClick={() => setOpen('begin')}>
            Add a second step
          </Button>
        ) : (
          <Group gap="xs">
            <Button variant="default" onClick={() => setOpen('renew')}>
              New recovery codes
            </Button>
            <Button variant="default" onClick={() => setOpen('off')}>
              Turn off
            </Button>
          </Group>
        )
      }
    >
      {on === null ? (
        <p>Off.</p>
      ) : (
        <p>
          On since <RelativeTime at={on.since} />. {counted(on.recovery_codes_left, 'recovery code')} left.
        </p>
      )}
      {open === 'begin' && <Enrolment onClose={close} />}
      {open === 'renew' && <Renewal onClose={close} />}
      {open === 'off' && <TurnOff onClose={close} />}
    </Card>
  )
}

/** Sets it up: password, then the app, then the recovery codes. */
function Enrolment({ onClose }: { onClose: () => void }) {
  const { begin, confirm } = useTwoStep()
  const [password, setPassword] = useState('')
  const codes = confirm.data?.recovery_codes
  if (codes !== undefined) {
    return (
      <Dialog title="Recovery codes" onClose={onClose}>
        <RecoveryCodes codes={codes} onClose={onClose} />
      </Dialog>
    )
  }
  if (begin.data !== undefined) {
    const { uri, secret } = begin.data
    return (
      <Dialog title="Add a second step" onClose={onClose}>
        <Stack gap="md">
          <Text size="md">Scan this with an app that makes codes, then type the code that it shows.</Text>
          <QrCode text={uri} label="QR code for your app" />
          <Text size="sm">Or type this into the app:</Text>
          <OnceShown text={secret} what="secret" isSpare />
          <CodeForm action="Turn on" call={confirm} onClose={onClose} autoFocus={false} />
        </Stack>
      </Dialog>
    )
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    begin.mutate(password)
  }
  const fault = faultOf(begin.error, '/password')
  return (
    <Dialog title="Add a second step" onClose={onClose}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <PasswordInput
            label="Your password"
            autoComplete="current-password"
            data-autofocus
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            error={fault}
          />
          <DialogEnd action="Continue" isBusy={begin.isPending} isDisabled={password === ''} onClose={onClose} />
        </Stack>
      </form>
    </Dialog>
  )
}

function Renewal({ onClose }: { onClose: () => void }) {
  const { renew } = useTwoStep()
  const codes = renew.data?.recovery_codes
  return (
    <Dialog title="New recovery codes" onClose={onClose}>
      {codes === undefined ? (
        <Stack gap="md">
          <Text size="md">They replace those that are left.</Text>
          <CodeForm action="Make new codes" call={renew} onClose={onClose} />
        </Stack>
      ) : (
        <RecoveryCodes codes={codes} onClose={onClose} />
      )}
    </Dialog>
  )
}

function TurnOff({ onClose }: { onClose: () => void }) {
  const { off } = useTwoStep()
  return (
    <Dialog title="Turn the second step off" onClose={onClose}>
      <Stack gap="md">
        <Text size="md">From then on your password is enough to sign in.</Text>
        <CodeForm action="Turn off" call={off} onClose={onClose} onDone={onClose} />
      </Stack>
    </Dialog>
  )
}

interface CodeFormProps {
  action: string
  call: {
    mutate: (code: string, options?: { onSuccess?: () => void }) => void
    error: Error | null
    isPending: boolean
  }
  onClose: () => void
  onDone?: () => void
  autoFocus?: boolean
}

function CodeForm({ action, call, onClose, onDone, autoFocus = true }: CodeFormProps) {
  const [code, setCode] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    call.mutate(code.trim(), onDone === undefined ? {} : { onSuccess: onDone })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label="Code"
          autoComplete="one-time-code"
          data-autofocus={autoFocus || undefined}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          error={faultOf(call.error, '/code')}
        />
        <DialogEnd action={action} isBusy={call.isPending} isDisabled={code.trim().length < 6} onClose={onClose} />
      </Stack>
    </form>
  )
}

function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <Stack gap="md">
      <Text size="md">
        Keep these where you can find them without your phone. Each signs you in once, instead of a code from the app.
        They are shown only once.
      </Text>
      <OnceShown text={codes.join('\n')} what="recovery codes" />
      <Group justify="flex-end">
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  )
}

function faultOf(error: Error | null, path: string): string | undefined {
  if (error === null) return undefined
  if (error instanceof ApiError && error.code === 'rate_limited') {
    return `Too many wrong codes. Wait ${error.retryAfter ?? 60} s and try again.`
  }
  return (error instanceof ApiError ? error.fault(path) : undefined) ?? error.message
}

/** The blank margin that readers need (ISO 18004), in modules. */
const QUIET_ZONE = 4

/** A QR code, dark on light in both themes, because some readers cannot read inverted ones. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 0 })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  const side = size + 2 * QUIET_ZONE
  return (
    <svg
      className={classes.qr}
      role="img"
      aria-label={label}
      viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${side} ${side}`}
      shapeRendering="crispEdges"
    >
      <path d={dark.join('')} />
    </svg>
  )
}
