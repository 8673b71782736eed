import { Button, type ButtonProps, Group, Popover, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { useHandleAlert } from '../../api/alerts.ts'
import { saidBy, useMyName } from '../../lib/use-my-name.ts'
import { useUndoAcknowledging } from '../../ui/undo/use-acknowledging.ts'

interface Props {
  id: string
  verb: 'acknowledge' | 'resolve'
  /** On both buttons: "Acknowledge". */
  action: string
  /** What it means, in a sentence. */
  children: ReactNode
  variant?: ButtonProps['variant']
}

/** A button that asks who and why, both optional, before it acknowledges or resolves. */
export function HandlePopover(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={320} trapFocus>
      <Popover.Target>
        <Button variant={props.variant ?? 'default'} onClick={() => setOpen(!isOpen)}>
          {props.action}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={props.action}>
        <Form {...props} onDone={() => setOpen(false)} />
      </Popover.Dropdown>
    </Popover>
  )
}

function Form({ id, verb, action, children, onDone }: Props & { onDone: () => void }) {
  const [name, setName] = useMyName()
  const [comment, setComment] = useState('')
  const handle = useHandleAlert()
  const offerUndo = useUndoAcknowledging()
  const submit = async () => {
    try {
      await handle.mutateAsync({ id, verb, ...saidBy(name), comment: comment.trim() === '' ? null : comment })
    } catch {
      // The form shows it.
      return
    }
    onDone()
    if (verb === 'acknowledge') offerUndo([id])
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <Stack gap="md">
        <Text size="sm" c="dimmed">
          {children}
        </Text>
        <Textarea
          label="Comment"
          placeholder="What you found, what you do"
          autosize
          minRows={2}
          maxLength={1_000}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          error={handle.error?.message}
          data-autofocus
        />
        <TextInput
          label="Your name"
          placeholder="As others know you"
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={handle.isPending}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
