from dg2 import *
import sys
P={"4":[1,1,1,1,1,0],"3":[1,1,1,1,0,0],"5":[1]*6,"h":[1,1,1,1,.5,0]}
for cfg in sys.argv[2:]:
    R,s,q,d=cfg.split(":"); R,s,q=float(R),float(s),int(q)
    kw={}
    if sys.argv[1][0]=="f": kw=dict(force=(.8,.5))
    report(cfg,(lambda src: filt(project(lambda x,y: kernel(R,s,q)((x-src[0])**2+(y-src[1])**2),5),P[d])),tuple(sys.argv[1].strip("f").split(",")),**kw)
