import { Button, Group, Stack, Text, Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type IncidentDetail, incidentQuery, useAddNote } from '../../api/alerts.ts'
import { saidBy, useMyName, useSession } from '../../api/session.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Awaited } from '../../ui/States.tsx'
import { AlertList } from './AlertList.tsx'
import classes from './detail.module.css'
import { sentence } from './words.ts'

interface AlertIncidentProps {
  id: string
  /** The alert that the page is about. */
  alertId: string
  zone: string | undefined
}

/** The incident that an alert is part of: what else has the same cause and why, and what people know about it. */
export function AlertIncident({ id, alertId, zone }: AlertIncidentProps) {
  const { data, error, refetch } = useQuery(incidentQuery(id))
  const { mayChange } = useSession()
  if (data === undefined) return <Awaited error={error} onRetry={() => void refetch()} height={96} />
  const others = data.alerts.filter((alert) => alert.id !== alertId)
  return (
    <Stack gap="sm" className={classes.before}>
      {others.length === 0 ? (
        <Text c="dimmed">No other alert has this cause.</Text>
      ) : (
        <>
          <p>
            {data.alerts.length} alerts have one cause, and notifications are about all of them together. It is called “
            {sentence(data.title)}”.
          </p>
          <Evidence evidence={data.evidence} />
          <AlertList alerts={others} zone={zone} />
        </>
      )}
      <Notes notes={data.notes} zone={zone} />
      {mayChange && <NoteForm id={id} />}
    </Stack>
  )
}

/** Why the alerts are one incident. */
function Evidence({ evidence }: Pick<IncidentDetail, 'evidence'>) {
  if (evidence.length === 0) return null
  return (
    <ul>
      {evidence.map((why) => (
        <li key={why}>{sentence(why)}</li>
      ))}
    </ul>
  )
}

function Notes({ notes, zone }: Pick<IncidentDetail, 'notes'> & { zone: string | undefined }) {
  if (notes.length === 0) return null
  return (
    <ul aria-label="Notes">
      {notes.map(({ id, at, by, text }) => (
        <li key={id}>
          {text}{' '}
          <span className={classes.muted}>
            {by}, <RelativeTime at={at} {...(zone === undefined ? {} : { zone })} />
          </span>
        </li>
      ))}
    </ul>
  )
}

/** What was found, who was asked, what was done. */
function NoteForm({ id }: { id: string }) {
  const add = useAddNote()
  const [name] = useMyName()
  const [text, setText] = useState('')
  const save = () =>
    add.mutate(
      { id, text, ...saidBy(name) },
      {
        onSuccess: () => setText(''),
        onError: ({ message }) => notifications.show({ color: 'danger', title: 'Not saved', message }),
      },
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <Textarea
        label="Note"
        description="What was found or done; everyone who opens this incident sees it"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={4_000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group mt="xs">
        <Button size="compact-sm" type="submit" variant="default" disabled={text.trim() === ''} loading={add.isPending}>
          Add note
        </Button>
      </Group>
    </form>
  )
}
