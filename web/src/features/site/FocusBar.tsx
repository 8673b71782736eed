import { Button } from '@mantine/core'
import { ArrowLeft, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { bucketText } from '../../ui/chart/bucket-text.ts'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'

/** The focused tag or event, and a link back to the whole site. */
export function FocusBar({ kind, name }: { kind: string; name: ReactNode }) {
  const { site, view } = useSite()
  const { picked } = view
  return (
    <div className={classes.focus}>
      <Button variant="default" leftSection={<ArrowLeft size={16} aria-hidden />} onClick={() => view.setFocus(null)}>
        Whole site
      </Button>
      <h2>
        <span className={classes.muted}>{kind}</span> {name}
      </h2>
      {picked !== null && (
        <Button
          variant="default"
          size="compact-sm"
          rightSection={<X size={14} aria-hidden />}
          title="Forget this time"
          onClick={view.clearPicked}
        >
          {bucketText({ start: picked.from, end: picked.to, isPartial: false }, site.timezone)}
        </Button>
      )}
    </div>
  )
}
