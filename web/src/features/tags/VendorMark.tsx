import classes from './tags.module.css'

/** A vendor's first letter: its logo would come from elsewhere, and belongs to it. */
export const VendorMark = ({ name }: { name: string }) => (
  <span className={classes.mark} aria-hidden>
    {[...name.replace(/^a /, '')][0]?.toUpperCase()}
  </span>
)
