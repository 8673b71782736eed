import { Button, Group, Menu, Modal, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { BellOff } from 'lucide-react'
import { type ReactElement, useRef, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { notifyOf } from '../../lib/refusal.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { useClosing, useUnsaved } from '../../lib/use-unsaved.ts'
import { momentOf, ownZone, wallTime } from '../../lib/zone.ts'
import { momentLike, zoneHint } from '../../lib/zone-hint.ts'
import { DialogEnd } from '../Dialog.tsx'
import { useSilencing } from '../undo.tsx'
import { type Scope, type SilenceTarget, SPANS, silenceScopes } from './mutes.ts'
import { ScopePicker } from './ScopePicker.tsx'
import classes from './SilenceMenu.module.css'
import { zoneOf } from './scope.ts'

interface SilenceMenuProps {
  /** The target of an unresolved alert. */
  target: SilenceTarget
  /** IANA zone of the site: "tomorrow" is tomorrow there. */
  zone: string
  /** The button that opens it. */
  children: ReactElement
  opened?: boolean
  onChange?: (opened: boolean) => void
}

/** Silences an alert's tag, event or field for a while, in two clicks, unless a wider scope is chosen. */
export function SilenceMenu({ target, zone, children, opened, onChange }: SilenceMenuProps) {
  const [isCustom, setCustom] = useState(false)
  const [chosen, setChosen] = useState<string | null>(null)
  const { run } = useSilencing()
  const scopes = silenceScopes(target)
  const { key, scope } = scopes.find((one) => one.key === chosen) ?? scopes[0] ?? NOTHING
  return (
    <>
      <Menu
        position="bottom-end"
        onOpen={() => setChosen(null)}
        {...(opened === undefined ? {} : { opened })}
        {...(onChange === undefined ? {} : { onChange })}
      >
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown className={classes.menu ?? ''}>
          <Menu.Label>What to silence</Menu.Label>
          <Menu.RadioGroup value={key} onChange={setChosen}>
            {scopes.map((one) => (
              <Menu.RadioItem key={one.key} value={one.key}>
                <span className={classes.scope}>{one.label}</span>
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Divider />
          <SilenceSpans zone={zone} onChoose={(end) => run({ ...scope, ...end })} />
          <Menu.Divider />
          <Menu.Item leftSection={<BellOff size={16} aria-hidden />} onClick={() => setCustom(true)}>
            Custom …
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <SilenceDialog
        opened={isCustom}
        onClose={() => setCustom(false)}
        scope={scope}
        subject={target.subject_label ?? null}
      />
    </>
  )
}

const NOTHING = { key: 'probe', scope: { client_id: null, site_id: null, probe_id: null } }

interface SilenceDialogProps {
  opened: boolean
  onClose: () => void
  /** The initial scope. */
  scope: Scope
  /** The label of the scope's `subject_key`. */
  subject?: string | null
}

/** The form of a silence with all its fields. */
export function SilenceDialog({ opened, onClose, scope, subject = null }: SilenceDialogProps) {
  const close = useClosing(opened, onClose)
  return (
    <Modal opened={opened} onClose={close} title="Silence" size="lg">
      <Form scope={scope} subject={subject} onClose={onClose} />
    </Modal>
  )
}

const HOUR = 3_600_000

function Form({ scope: first, subject = null, onClose }: Omit<SilenceDialogProps, 'opened'>) {
  const directory = useDirectory()
  const silence = useSilencing()
  const [scope, setScope] = useState(first)
  const [comment, setComment] = useState('')
  const [start, setStart] = useState('')
  const zone = zoneOf(scope, directory) ?? ownZone()
  const [preset, setPreset] = useState(() => Date.now() + HOUR)
  const [end, setEnd] = useState(() => wallTime(preset, zone))
  const startsAt = start === '' ? null : momentOf(start, zone)
  const endsAt = momentLike(preset, end, zone)
  const form = useRef<HTMLFormElement>(null)
  const { error } = silence
  useUnsaved(() => !silence.isPending && comment.trim() !== '')
  const fault = (path: string) => (error instanceof ApiError ? error.fault(path) : undefined)
  const submit = () =>
    silence
      .run({
        ...scope,
        ...(startsAt === null ? {} : { starts_at: new Date(startsAt).toISOString() }),
        ends_at: new Date(endsAt ?? 0).toISOString(),
        comment: comment.trim() === '' ? null : comment,
      })
      .then(onClose, (refusal: Error) => {
        // The dialog was closed, so nothing else would show it.
        if (form.current === null) notSilenced(refusal)
      })
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Stack gap="lg">
        <Text size="sm" c="dimmed">
          Probes keep running and alerts still open, but no notifications are sent. At the end you are notified of what
          still fails, not of what has been resolved.
        </Text>
        {subject !== null && scope.subject_key != null && <Text size="sm">Only {subject} of this probe.</Text>}
        <ScopePicker value={scope} onChange={setScope} error={fault('/client_id')} />
        <Group align="flex-start" grow>
          <TextInput
            type="datetime-local"
            label="From"
            description={start === '' ? 'Empty: from now on' : zoneHint(start, zone)}
            value={start}
            onChange={(event) => setStart(event.currentTarget.value)}
            error={fault('/starts_at')}
          />
          <TextInput
            type="datetime-local"
            label="Until"
            description={zoneHint(end, zone, endsAt)}
            data-autofocus
            value={end}
            onChange={(event) => setEnd(event.currentTarget.value)}
            error={fault('/ends_at')}
            required
          />
        </Group>
        <Group gap="xs" role="group" aria-label="Until, in one click">
          {SPANS.map(({ label, endOf }) => (
            <Button
              key={label}
              size="compact-sm"
              variant="default"
              onClick={() => {
                const at = endOf(startsAt ?? Date.now(), zone)
                setPreset(at)
                setEnd(wallTime(at, zone))
              }}
            >
              {label}
            </Button>
          ))}
        </Group>
        <Textarea
          label="Why"
          placeholder="Moving the tag server to another region"
          maxLength={500}
          autosize
          minRows={2}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          error={fault('/comment')}
        />
        <DialogEnd
          action="Silence"
          isBusy={silence.isPending}
          isDisabled={endsAt === null}
          onClose={onClose}
          fault={error?.message}
        />
      </Stack>
    </form>
  )
}

const notSilenced = notifyOf('Not silenced')

type End = { ends_at: string } | { until_resolved: true }

interface SilenceSpansProps {
  /** IANA zone: "tomorrow" is tomorrow there. */
  zone: string
  /** Silences until then; a rejection is shown. */
  onChoose: (end: End) => Promise<unknown>
}

/** Menu items with the durations of a silence. */
export function SilenceSpans({ zone, onChoose }: SilenceSpansProps) {
  const choose = (end: End) => void onChoose(end).catch(notSilenced)
  return (
    <>
      <Menu.Label>For</Menu.Label>
      {SPANS.map(({ label, endOf }) => (
        <Menu.Item key={label} onClick={() => choose({ ends_at: new Date(endOf(Date.now(), zone)).toISOString() })}>
          {label}
        </Menu.Item>
      ))}
      <Menu.Item onClick={() => choose({ until_resolved: true })}>Until resolved</Menu.Item>
    </>
  )
}
