/** Imported before everything else: the page's policy forbids eval, which zod would use when a schema is made. */
import { z } from 'zod';

z.config({ jitless: true });
