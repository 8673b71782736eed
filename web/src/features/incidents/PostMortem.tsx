import { Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { IncidentDetail } from '../../api/incidents.ts'
import { useNow } from '../../lib/external.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import classes from './incidents.module.css'
import { postMortem } from './post-mortem.ts'

/** Everything known as Markdown, to copy to where post-mortems are kept. */
export function PostMortem({ incident, zone }: { incident: IncidentDetail; zone: string }) {
  const text = postMortem(incident, zone, useNow())
  // A new text would drop what is selected in the old one.
  const [focused, setFocused] = useState<string | null>(null)
  return (
    <>
      <div className={classes.copied}>
        <Text c="dimmed" size="sm">
          What is known, as Markdown, with empty sections for what only you know.
        </Text>
        <CopyButton text={text} what="post-mortem" />
      </div>
      <Textarea
        className={classes.postMortem}
        aria-label="Post-mortem"
        value={focused ?? text}
        readOnly
        autosize
        minRows={6}
        maxRows={14}
        onFocus={(event) => {
          setFocused(text)
          event.currentTarget.select()
        }}
        onBlur={() => setFocused(null)}
      />
    </>
  )
}
